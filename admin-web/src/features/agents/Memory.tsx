import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Loaded } from "../../ui/Loaded.tsx";
import { LongText } from "../../ui/LongText.tsx";
import { Paged } from "../../ui/Paged.tsx";
import { memoryFileQuery, memoryQuery } from "./queries.ts";
import style from "./AgentParts.module.css";

/** The files that an agent remembers; each is read when it is opened. */
export function Memory({ agentId }: { agentId: string }) {
  const found = useInfiniteQuery(memoryQuery(agentId));
  return (
    <Paged what="memory files" found={found} empty={<p>Nothing is remembered.</p>}>
      {(files) => files.map(({ path }) => <File key={path} agentId={agentId} path={path} />)}
    </Paged>
  );
}

function File({ agentId, path }: { agentId: string; path: string }) {
  const [isOpen, setOpen] = useState(false);
  const found = useQuery({ ...memoryFileQuery(agentId, path), enabled: isOpen });
  return (
    <details className={style.item} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>{path}</code>
      </summary>
      {isOpen && (
        <Loaded what="the file" found={found}>
          {({ content }) => <LongText text={content} label={path} />}
        </Loaded>
      )}
    </details>
  );
}
