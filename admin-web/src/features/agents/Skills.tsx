import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { SkillEntry } from "../../api/types.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { LongText } from "../../ui/LongText.tsx";
import { Paged } from "../../ui/Paged.tsx";
import { skillQuery, skillsQuery } from "./queries.ts";
import style from "./AgentParts.module.css";

/** What an agent can read up on; each is read when it is opened. */
export function Skills({ agentId }: { agentId: string }) {
  const found = useInfiniteQuery(skillsQuery(agentId));
  return (
    <Paged what="skills" found={found} empty={<p>None.</p>}>
      {(skills) => skills.map((each) => <Skill key={each.name} agentId={agentId} skill={each} />)}
    </Paged>
  );
}

function Skill({ agentId, skill }: { agentId: string; skill: SkillEntry }) {
  const { name, description, allowed_tools } = skill;
  const [isOpen, setOpen] = useState(false);
  const found = useQuery({ ...skillQuery(agentId, name), enabled: isOpen });
  return (
    <details className={style.item} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>{name}</code> <span className={style.about}>{description}</span>
      </summary>
      {allowed_tools && <p>With it only these tools: {allowed_tools.join(", ") || "none"}.</p>}
      {isOpen && (
        <Loaded what="the skill" found={found}>
          {({ body }) => <LongText text={body} label={name} />}
        </Loaded>
      )}
    </details>
  );
}
