import { useMutation, useQueryClient } from "@tanstack/react-query";
import { changeSession, sessionQuery } from "./queries.ts";

/** Rename a session, or put it into the archive or back; lists are read again. */
export function useChangeSession(id: string, onDone?: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (wanted: { title?: string; archived?: boolean }) => changeSession(id, wanted),
    onSuccess: (session) => {
      client.setQueryData(sessionQuery(id).queryKey, session);
      void client.invalidateQueries({ queryKey: ["sessions", "list"] });
      onDone?.();
    },
  });
}
