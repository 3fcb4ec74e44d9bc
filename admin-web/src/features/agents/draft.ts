/** The fields of an agent as they are edited, and what of them has changed. No DOM. */
import type { Agent } from "../../api/types.ts";
import type { Changes } from "./queries.ts";

export type Draft = {
  readonly name: string;
  readonly model: string;
  /** One text for each system block. */
  readonly prompt: readonly string[];
  readonly maxTokens: string;
  readonly shared: boolean;
};

export const promptOf = (agent: Pick<Agent, "system_prompt">): string[] => {
  const given = agent.system_prompt;
  if (Array.isArray(given)) return given.map(String);
  return [typeof given === "string" ? given : ""];
};

export const draftOf = (agent: Agent): Draft => ({
  name: agent.name,
  model: agent.model,
  prompt: promptOf(agent),
  maxTokens: String(agent.max_tokens),
  shared: agent.shared,
});

/** What to send: only what is another than before, so that nothing else is written over. */
export function changesOf(before: Draft, draft: Draft): Changes {
  return {
    ...(draft.name.trim() !== before.name ? { name: draft.name.trim() } : {}),
    ...(draft.model.trim() !== before.model ? { model: draft.model.trim() } : {}),
    ...(isSame(draft.prompt, before.prompt) ? {} : { system_prompt: [...draft.prompt] }),
    ...(draft.maxTokens !== before.maxTokens ? { max_tokens: Number(draft.maxTokens) } : {}),
    ...(draft.shared !== before.shared ? { shared: draft.shared } : {}),
  };
}

/** The draft on top of a newer agent: what was not touched is as it is there. */
export const rebased = (before: Draft, draft: Draft, newer: Draft): Draft => ({
  name: draft.name === before.name ? newer.name : draft.name,
  model: draft.model === before.model ? newer.model : draft.model,
  prompt: isSame(draft.prompt, before.prompt) ? newer.prompt : draft.prompt,
  maxTokens: draft.maxTokens === before.maxTokens ? newer.maxTokens : draft.maxTokens,
  shared: draft.shared === before.shared ? newer.shared : draft.shared,
});

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((each, at) => each === other[at]);

export const isPossible = ({ name, model, maxTokens }: Draft): boolean =>
  name.trim() !== "" && model.trim() !== "" && /^[1-9]\d{0,8}$/.test(maxTokens);

/** A tool as it is listed: hango's own have a schema, the provider's a type. */
export function toolOf(tool: unknown): { name: string; about: string; definition: string } {
  const definition = JSON.stringify(tool, null, 2);
  if (typeof tool !== "object" || tool === null) return { name: "?", about: "", definition };
  const field = (name: string) =>
    name in tool ? String((tool as Record<string, unknown>)[name]) : "";
  return { name: field("name") || field("type"), about: field("description"), definition };
}
