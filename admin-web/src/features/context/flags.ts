/** The marks of a part, in words. Nothing is said of a part with which all is as usual. No DOM. */
import type { Part } from "../../api/types.ts";
import type { ByPart, Wanted } from "./model.ts";
import type { Novelty } from "./rows.ts";
import { isChanged, type View, wantedOf } from "./tokens.ts";

export type Flag = {
  readonly text: string;
  readonly tone: "plain" | "info" | "warn" | "bad";
  /** A sentence for those who ask what it means. */
  readonly about: string;
};

const flag = (text: string, tone: Flag["tone"], about: string): Flag => ({ text, tone, about });

/** What the list marks a part with; most important first. */
export function flagsOf(
  part: Part,
  view: View,
  novelty: Novelty,
  suspended: ByPart<Wanted> | null,
): Flag[] {
  const flags: (Flag | false | undefined)[] = [
    ...draftFlags(part, view),
    part.stale && flag("stale", "warn", "An override names this part, and it is not there now."),
    suspended?.has(part.id) &&
      flag("suspended", "bad", "The session's overrides are not applied: see the note above."),
    part.base_changed &&
      flag("base changed", "warn", "The original has changed since this replacement was written."),
    part.thinking_dropped &&
      flag(
        "thinking dropped",
        "warn",
        "Its thinking is not sent: an edit before it made it invalid.",
      ),
    ...pairFlags(part),
    part.truncated && flag("truncated", "info", "The chain has shortened it to fit."),
    part.compacted && flag("compacted", "plain", "Older than the summary, which stands for it."),
    part.synthetic && flag("synthetic", "plain", "Made for this request alone; nothing stores it."),
    novelty === "new" && flag("new", "info", "The last call did not have it."),
    novelty === "changed" && flag("changed", "info", "The last call sent it with another content."),
    part.rough && flag("rough", "plain", "Its count is a bound or a guess."),
  ];
  return flags.filter((each) => typeof each === "object");
}

function draftFlags(part: Part, view: View): (Flag | undefined)[] {
  const { excluded, replacement } = wantedOf(view, part.id);
  const partner = view.along.get(part.id);
  const changed = isChanged(view, part.id);
  const note = changed ? " Not saved yet." : "";
  return [
    changed ? flag("unsaved", "warn", "You have changed this part and not saved it.") : undefined,
    partner && !excluded
      ? flag(`goes with ${shortName(partner)}`, "warn", `It cannot stay without ${partner}.`)
      : undefined,
    excluded ? flag("left out", "plain", `It is not sent.${note}`) : undefined,
    !excluded && replacement !== null
      ? flag("replaced", "info", `Another text is sent in its place.${note}`)
      : undefined,
  ];
}

function pairFlags(part: Part): Flag[] {
  const others = part.paired_with ?? [];
  if (others.length === 0) return [];
  const names = others.map(shortName).join(", ");
  return [flag(`pair ${names}`, "plain", `A tool call and its result: it left with ${names}.`)];
}

/** `message:12` as #12; other ids are short enough. */
export const shortName = (part: string): string => part.replace(/^message:/, "#");
