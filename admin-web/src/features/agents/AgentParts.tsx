import type { ReactNode } from "react";
import type { Agent } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { LongText } from "../../ui/LongText.tsx";
import { promptOf, toolOf } from "./draft.ts";
import { Memory } from "./Memory.tsx";
import { Skills } from "./Skills.tsx";
import style from "./AgentParts.module.css";

const FOLDED = 1500; // characters

/** What an agent's requests are made of: prompt, tools, memory, skills, helpers. */
export function AgentParts({ agent }: { agent: Agent }) {
  return (
    <>
      <Section title="System prompt">
        <Prompt texts={promptOf(agent)} />
      </Section>
      <Section title={`Tools (${whole(agent.tools.length)})`}>
        {agent.tools.length === 0 && <p>None of its own; those that are switched on come along.</p>}
        {agent.tools.map(toolOf).map(({ name, about, definition }) => (
          <details key={name} className={style.item}>
            <summary>
              <code>{name}</code> <span className={style.about}>{about}</span>
            </summary>
            <LongText text={definition} label={`Definition of ${name}`} />
          </details>
        ))}
      </Section>
      <Section title="Memory">
        <Memory agentId={agent.id} />
      </Section>
      <Section title="Skills">
        <Skills agentId={agent.id} />
      </Section>
      <Section title={`Helpers (${whole(agent.subagents.length)})`}>
        {agent.subagents.length === 0 && <p>None.</p>}
        {agent.subagents.map(({ name, description, system_prompt }) => (
          <details key={name} className={style.item}>
            <summary>
              <code>{name}</code> <span className={style.about}>{description}</span>
            </summary>
            <LongText text={system_prompt} label={`System prompt of ${name}`} atFirst={FOLDED} />
          </details>
        ))}
      </Section>
    </>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className={style.section}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Prompt({ texts }: { texts: readonly string[] }) {
  if (texts.every((each) => each === "")) return <p>None.</p>;
  return texts.map((each, index) => (
    <div key={index} className={style.item}>
      <LongText text={each} label={`Text ${index + 1} of the prompt`} atFirst={FOLDED} />
    </div>
  ));
}
