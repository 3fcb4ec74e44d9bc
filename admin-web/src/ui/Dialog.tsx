import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { Button } from "./Button.tsx";
import { classes } from "./classes.ts";
import style from "./Dialog.module.css";

type Props = {
  title: string;
  /** Beside the title, small. */
  about?: ReactNode;
  /** `sheet` stands at the right edge over the whole height, and gives its contents all of it. */
  shape?: "box" | "sheet";
  /** Absent: only what is inside can close it. */
  onClose?: () => void;
  children: ReactNode;
};

/** The browser's own modal dialog: it keeps the focus inside, and Escape closes it. */
export function Dialog({ title, about, shape = "box", onClose, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();

  // The outside system is the browser's top layer: a dialog gets there by a call alone. Closed while
  // it is still in the document, it gives the focus back to where that was.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);

  return (
    <dialog
      ref={ref}
      className={classes(style.dialog, style[shape])}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose?.();
      }}
    >
      <div className={style.inside}>
        <header className={style.head}>
          <h2 id={heading}>{title}</h2>
          {about && <div className={style.about}>{about}</div>}
          {onClose && (
            <Button look="quiet" small onClick={onClose} aria-label="Close" className={style.close}>
              ✕
            </Button>
          )}
        </header>
        <div className={style.body}>{children}</div>
      </div>
    </dialog>
  );
}
