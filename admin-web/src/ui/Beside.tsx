import type { ReactNode } from "react";
import { useMedia } from "../lib/media.ts";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import style from "./Beside.module.css";

type Props = { title: string; onClose: () => void; children: ReactNode };

const WIDE = "(min-width: 64rem)";

/** A column beside the page's own where there is room for one, a sheet over it where there is not. */
export function Beside({ title, onClose, children }: Props) {
  const isWide = useMedia(WIDE);
  if (!isWide)
    return (
      <Dialog title={title} shape="sheet" onClose={onClose}>
        {children}
      </Dialog>
    );
  return (
    <aside className={style.column} aria-label={title}>
      <header className={style.head}>
        <h2>{title}</h2>
        <Button look="quiet" small aria-label={`Close ${title}`} onClick={onClose}>
          ✕
        </Button>
      </header>
      {children}
    </aside>
  );
}
