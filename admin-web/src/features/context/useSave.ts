import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiProblem } from "../../api/problem.ts";
import type { StoredSet } from "../../api/types.ts";
import type { Versioned } from "../../api/client.ts";
import { type Draft, type Sets, setToSave, type Target, TARGETS, targetOf } from "./model.ts";
import { contextKey, saveSet, setsQuery, type Where } from "./queries.ts";

type Order = { base: Sets; draft: Draft; reason: string };

/** What was there before a save, for as long as it can be brought back by one press. */
type Before = { target: Target; overrides: StoredSet["overrides"]; etag: string | null };

/** Saving, and taking back what was just saved. */
export function useSave(
  where: Where,
  onSaved: (target: Target, answer: Versioned<StoredSet>) => void,
) {
  const client = useQueryClient();
  const [undoable, setUndoable] = useState<Before[]>([]);

  const stored = (target: Target, answer: Versioned<StoredSet>) => {
    client.setQueryData(setsQuery(where).queryKey, (sets) => sets && { ...sets, [target]: answer });
    onSaved(target, answer);
  };
  const refresh = () => client.invalidateQueries({ queryKey: contextKey(where.sessionId) });

  const save = useMutation({
    mutationFn: async ({ base, draft, reason }: Order) => {
      const before: Before[] = [];
      for (const target of TARGETS) {
        if (![...draft.keys()].some((part) => targetOf(part) === target)) continue;
        const { value, etag } = base[target];
        const body = {
          overrides: setToSave(target, value.overrides, draft),
          reason: reason || null,
        };
        const answer = await saveSet(target, where, body, etag);
        before.push({ target, overrides: value.overrides, etag: answer.etag });
        setUndoable([...before]);
        stored(target, answer);
      }
    },
    onSettled: refresh,
  });

  const undo = useMutation({
    mutationFn: async () => {
      for (const { target, overrides, etag } of undoable) {
        stored(target, await saveSet(target, where, { overrides, reason: "undone" }, etag));
      }
      setUndoable([]);
    },
    onSettled: refresh,
  });

  return {
    save,
    undo,
    canUndo: undoable.length > 0 && save.isSuccess,
    /** Somebody else has changed a set since the draft was begun. */
    isConflict: save.error instanceof ApiProblem && save.error.status === 412,
    forget: () => {
      save.reset();
      undo.reset();
      setUndoable([]);
    },
  };
}
