import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Standing } from "../../api/types.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { Field } from "../../ui/Field.tsx";
import { Form } from "../../ui/Form.tsx";
import { limitOf } from "./meters.ts";
import { putQuota, quotaQuery } from "./queries.ts";

const MICRO = 1_000_000;
const WRONG = "Give a number that is not below 0, or leave the field empty.";

export function EditQuota({ standing, onClose }: { standing: Standing; onClose: () => void }) {
  const { limits } = standing;
  const [period, setPeriod] = useState(standing.period);
  const [tokens, setTokens] = useState(limits.tokens?.toString() ?? "");
  const [cost, setCost] = useState(
    limits.micro_dollars === null ? "" : String(limits.micro_dollars / MICRO),
  );
  const client = useQueryClient();
  const saving = useMutation({
    mutationFn: putQuota,
    onSuccess: (saved) => {
      client.setQueryData(quotaQuery.queryKey, saved);
      onClose();
    },
  });
  const wanted = { tokens: limitOf(tokens, 1), micro_dollars: limitOf(cost, MICRO) };
  return (
    <Dialog title="Limits of the quota" onClose={onClose}>
      <Form
        verb="Save"
        isReady={wanted.tokens !== undefined && wanted.micro_dollars !== undefined}
        isPending={saving.isPending}
        error={saving.error}
        onSubmit={() => {
          const { tokens, micro_dollars } = wanted;
          if (tokens === undefined || micro_dollars === undefined) return;
          saving.mutate({ period, tokens, micro_dollars });
        }}
        onCancel={onClose}
      >
        <Field label="Period" hint="Both begin at midnight UTC. What was used stays used.">
          {(control) => (
            <select {...control} value={period} onChange={(event) => setPeriod(event.target.value)}>
              <option value="day">Day</option>
              <option value="month">Month</option>
            </select>
          )}
        </Field>
        <Amount label="Tokens" value={tokens} limit={wanted.tokens} onChange={setTokens} />
        <Amount label="Dollars" value={cost} limit={wanted.micro_dollars} onChange={setCost} />
      </Form>
    </Dialog>
  );
}

type AmountProps = {
  label: string;
  value: string;
  limit: number | null | undefined;
  onChange: (value: string) => void;
};

function Amount({ label, value, limit, onChange }: AmountProps) {
  return (
    <Field label={label} hint="Empty: no limit." error={limit === undefined ? WRONG : null}>
      {(control) => (
        <input
          {...control}
          inputMode="decimal"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
