import type { ReactNode } from "react";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Notice } from "./Notice.tsx";
import { RequestId } from "./states.tsx";
import style from "./Form.module.css";

type Props = {
  title: string;
  /** What happens then, and whether it can be undone. */
  children: ReactNode;
  /** The verb: "Delete". */
  verb: string;
  isPending: boolean;
  error: Error | null;
  onConfirm: () => void;
  onClose: () => void;
};

/** Asks before something that cannot be undone. */
export function Confirm({ title, children, verb, isPending, error, onConfirm, onClose }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className={style.form}>
        <div>{children}</div>
        {error && (
          <Notice tone="bad">
            {error.message}
            <RequestId error={error} />
          </Notice>
        )}
        <div className={style.buttons}>
          <Button onClick={onClose} autoFocus>
            Cancel
          </Button>
          <Button look="danger" onClick={onConfirm} disabled={isPending}>
            {isPending ? "One moment …" : verb}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
