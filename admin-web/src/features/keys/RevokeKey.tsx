import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Key } from "../../api/types.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import { revokeKey } from "./queries.ts";

type Props = { apiKey: Key; isOwn: boolean; onClose: () => void };

export function RevokeKey({ apiKey, isOwn, onClose }: Props) {
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: () => revokeKey(apiKey.id),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["keys"] });
      onClose();
    },
  });
  return (
    <Confirm
      title={`Revoke ${apiKey.name}?`}
      verb="Revoke"
      isPending={revoking.isPending}
      error={revoking.error}
      onConfirm={() => revoking.mutate()}
      onClose={onClose}
    >
      <p>Whoever uses this key is refused from now on. A revoked key cannot be brought back.</p>
      {isOwn && (
        <p>
          <strong>You are signed in with it</strong>, and will have to sign in with another one.
        </p>
      )}
    </Confirm>
  );
}
