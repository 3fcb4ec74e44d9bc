import { useQuery } from "@tanstack/react-query";
import { overridesQuery } from "./queries.ts";
import { Notice } from "../../ui/Notice.tsx";
import style from "./AgentParts.module.css";

/** A sign that what is sent is not what stands here; silence where nothing is changed. */
export function AgentOverrides({ agentId }: { agentId: string }) {
  const saved = useQuery(overridesQuery(agentId)).data?.overrides ?? [];
  if (saved.length === 0) return null;
  return (
    <Notice
      tone="warn"
      title={saved.length === 1 ? "1 override is saved." : `${saved.length} overrides are saved.`}
    >
      What this agent sends is not all that stands below. They are changed on the page Context of
      one of its sessions.
      <ul className={style.list}>
        {saved.map((each) => (
          <li key={each.part}>
            <code>{each.part}</code> {each.action === "exclude" ? "is left out" : "is replaced"}
            {each.reason && `: ${each.reason}`}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
