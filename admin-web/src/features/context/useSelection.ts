import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiProblem } from "../../api/problem.ts";
import type { Preview, Snapshot } from "../../api/types.ts";
import { useSettled } from "../../lib/settled.ts";
import {
  type Change,
  type Draft,
  changed,
  faultsByPart,
  NOTHING_CHANGED,
  partnersIn,
  savedIn,
  type Sets,
  setToSave,
  type Target,
  TARGETS,
  targetOf,
  unsaved,
} from "./model.ts";
import { previewQuery, type Where } from "./queries.ts";
import { pricedTexts, SENDING_ORDER, type View } from "./tokens.ts";

const PREVIEW_AFTER_MS = 250;

/** The user's selection, and what the server says of it before anything is saved. */
export function useSelection(where: Where, snapshot: Snapshot, sets: Sets) {
  const [selection, setSelection] = useState(NOTHING_CHANGED);
  const saved = savedIn(sets);
  const changes = unsaved(selection.draft, saved);
  const settled = useSettled(selection.draft, PREVIEW_AFTER_MS);
  const agent = useQuery(previewQuery(where, "agent", sets, settled));
  const session = useQuery(previewQuery(where, "session", sets, settled));
  const answers = { agent, session };

  const previews = Object.values(answers).flatMap(({ data, isError }) =>
    data && !isError ? [data] : [],
  );
  const added = changes.size === 0 ? [] : previews.flatMap((each) => each.added);
  const parts = SENDING_ORDER.flatMap((name) => snapshot.groups[name].parts);
  const isPricing = settled !== selection.draft || agent.isFetching || session.isFetching;
  const unpriced = {
    saved,
    draft: selection.draft,
    along: new Map(added.map((each) => [each.part, each.goes_with])),
  };
  const priced = TARGETS.flatMap((target) => {
    const saving = answers[target].data?.price.saved_per_call;
    if (isPricing || answers[target].isError || saving == null) return [];
    const own = parts.filter((part) => targetOf(part.id) === target);
    return [...pricedTexts(unpriced, own, saving)];
  });
  const view: View = { ...unpriced, priced: new Map(priced) };

  return {
    draft: selection.draft,
    base: selection.base,
    changes,
    view,
    price: priceOf(previews),
    thinkingDropped: previews.flatMap((each) => each.thinking_dropped ?? []),
    alternatives: previews.flatMap((each) => each.alternatives),
    refusals: TARGETS.flatMap((target) => refusalOf(target, answers[target].error, sets, settled)),
    isPricing,
    change: (change: Change) => setSelection((now) => changed(now, sets, change)),
    toggle: (part: string) => {
      const change: Change = { type: "toggle", part, partners: partnersIn(parts, added) };
      setSelection((now) => changed(now, sets, change));
    },
  };
}

export type SelectionState = ReturnType<typeof useSelection>;

export type SumOfPrices = {
  savedPerCall: number | null;
  rebilled: number | null;
  /** Null where it never pays, or where nothing is known. */
  paysAfter: number | null;
  prefixLost: boolean;
};

/** Both targets' prices as one; null: the server has not said. */
function priceOf(previews: readonly Preview[]): SumOfPrices | null {
  if (previews.length === 0) return null;
  const sum = (of: (each: Preview) => number | null) =>
    previews.reduce<number | null>((left, each) => {
      const value = of(each);
      return left === null || value === null ? null : left + value;
    }, 0);
  const savedPerCall = sum((each) => each.price.saved_per_call);
  const rebilled = sum((each) => each.price.prefix_rebilled);
  const prefixLost = previews.some((each) => each.price.prefix_lost);
  return { savedPerCall, rebilled, paysAfter: callsUntilPaid(savedPerCall, rebilled), prefixLost };
}

function callsUntilPaid(saved: number | null, rebilled: number | null): number | null {
  if (saved === null || rebilled === null) return null;
  if (rebilled === 0) return 0;
  return saved > 0 ? Math.ceil(rebilled / saved) : null;
}

export type Refusal = {
  target: Target;
  error: Error;
  byPart: ReturnType<typeof faultsByPart>;
  alternatives: { part: string; replacement: string }[];
};

/** Why a target's set would not be stored. */
function refusalOf(target: Target, error: Error | null, sets: Sets, draft: Draft): Refusal[] {
  if (!error) return [];
  if (!(error instanceof ApiProblem))
    return [{ target, error, byPart: new Map(), alternatives: [] }];
  const sent = setToSave(target, sets[target].value.overrides, draft);
  const byPart = faultsByPart(sent, error.faults);
  return [{ target, error, byPart, alternatives: alternativesIn(error.body) }];
}

function alternativesIn(body: object): { part: string; replacement: string }[] {
  if (!("alternatives" in body) || !Array.isArray(body.alternatives)) return [];
  return body.alternatives.filter(
    (each: unknown): each is { part: string; replacement: string } =>
      typeof each === "object" && each !== null && "part" in each && "replacement" in each,
  );
}
