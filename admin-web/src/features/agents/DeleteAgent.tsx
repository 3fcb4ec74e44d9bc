import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import type { Versioned } from "../../api/client.ts";
import type { Agent } from "../../api/types.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import { deleteAgent } from "./queries.ts";

type Props = { agent: Versioned<Agent>; onClose: () => void };

export function DeleteAgent({ agent: { value, etag }, onClose }: Props) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => deleteAgent(value.id, etag),
    onSuccess: async () => {
      await navigate("/agents");
      client.removeQueries({ queryKey: ["agents", value.id] });
      void client.invalidateQueries({ queryKey: ["agents"] });
    },
  });
  return (
    <Confirm
      title="Delete the agent?"
      verb="Delete"
      isPending={deleting.isPending}
      error={deleting.error}
      onConfirm={() => deleting.mutate()}
      onClose={onClose}
    >
      “{value.name}” goes with its memory and skills. An agent that has sessions stays until they
      are deleted. This cannot be undone.
    </Confirm>
  );
}
