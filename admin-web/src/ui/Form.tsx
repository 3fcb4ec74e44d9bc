import type { ReactNode } from "react";
import { Button } from "./Button.tsx";
import { Notice } from "./Notice.tsx";
import { RequestId } from "./states.tsx";
import style from "./Form.module.css";

type Props = {
  /** The verb on its button: "Create". */
  verb: string;
  isPending: boolean;
  /** Why the last attempt failed; what is filled in stays. */
  error: Error | null;
  /** Whether it can be sent as it is. */
  isReady?: boolean;
  onSubmit: () => void;
  onCancel?: () => void;
  children: ReactNode;
};

/** Fields, one under the other, and the button that sends them. */
export function Form({
  verb,
  isPending,
  error,
  isReady = true,
  onSubmit,
  onCancel,
  children,
}: Props) {
  return (
    <form
      className={style.form}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {error && (
        <Notice tone="bad">
          {error.message}
          <Faults error={error} />
          <RequestId error={error} />
        </Notice>
      )}
      <div className={style.buttons}>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" look="primary" disabled={isPending || !isReady}>
          {isPending ? "One moment …" : verb}
        </Button>
      </div>
    </form>
  );
}

type Fault = { at: string; detail: string };

/** What is wrong with which field, where the error carries it. */
function Faults({ error }: { error: Error }) {
  // Errors of the API carry their faults in this shape.
  const faults = "faults" in error ? (error.faults as readonly Fault[]) : [];
  if (faults.length === 0) return null;
  return (
    <ul className={style.faults}>
      {faults.map(({ at, detail }) => (
        <li key={at + detail}>
          <code>{at}</code>: {detail}
        </li>
      ))}
    </ul>
  );
}
