import type { ReactNode } from "react";
import type { Try } from "../../api/types.ts";
import { dollars, whole } from "../../lib/numbers.ts";
import { between, duration } from "../../lib/times.ts";
import style from "./TryPanel.module.css";

/** Usage, cost and time of a try, and what was changed for it. */
export function TryFacts({ shown }: { shown: Try }) {
  const { usage, cost, snapshot, started_at, finished_at, stop_reason } = shown;
  const facts: [string, ReactNode][] = [];
  if (usage) facts.push(["Usage", usageInWords(usage)]);
  if (cost) facts.push(["Cost", dollars(cost.micro_dollars)]);
  if (started_at && finished_at) facts.push(["Took", duration(between(started_at, finished_at))]);
  if (stop_reason) facts.push(["Ended by", stop_reason]);
  if (snapshot)
    facts.push(["Request", `≈ ${whole(snapshot.totals.after)} tokens, ${snapshot.model}`]);
  if (shown.excluded.length > 0) facts.push(["Left out", shown.excluded.join(", ")]);
  if (shown.added.length > 0)
    facts.push(["Along", shown.added.map((e) => `${e.part} with ${e.goes_with}`).join(", ")]);
  if (shown.replaced.length > 0) facts.push(["Replaced", shown.replaced.join(", ")]);
  return (
    <dl className={style.facts}>
      {facts.map(([name, value]) => (
        <div key={name} className={style.fact}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function usageInWords(usage: NonNullable<Try["usage"]>): string {
  const said = [`${whole(usage.input_tokens)} in`, `${whole(usage.output_tokens)} out`];
  if (usage.cache_read_tokens > 0) said.push(`${whole(usage.cache_read_tokens)} from the cache`);
  if (usage.cache_write_tokens > 0) said.push(`${whole(usage.cache_write_tokens)} into the cache`);
  return said.join(", ");
}
