import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import type { Session } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import { deleteSession } from "./queries.ts";

type Props = { session: Session; onClose: () => void };

export function DeleteSession({ session, onClose }: Props) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => deleteSession(session.id),
    onSuccess: async () => {
      await navigate("/sessions");
      client.removeQueries({ queryKey: ["sessions", session.id] });
      void client.invalidateQueries({ queryKey: ["sessions", "list"] });
    },
  });
  return (
    <Confirm
      title="Delete the session?"
      verb="Delete"
      isPending={deleting.isPending}
      error={deleting.error}
      onConfirm={() => deleting.mutate()}
      onClose={onClose}
    >
      <p>
        “{session.title}” goes with its {whole(session.message_count)} messages, its files,
        attachments, runs and tries. This cannot be undone. What it has used stays counted.
      </p>
    </Confirm>
  );
}
