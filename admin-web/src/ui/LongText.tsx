import { useState } from "react";
import { whole } from "../lib/numbers.ts";
import { Button } from "./Button.tsx";
import style from "./LongText.module.css";

type Props = {
  text: string;
  label: string;
  /** So many characters are drawn until more is wanted. */
  atFirst?: number;
};

/** A text as it is: nothing in it is taken for markup. */
export function LongText({ text, label, atFirst = Infinity }: Props) {
  // A little more than that is not worth a click.
  const [isWhole, setWhole] = useState(text.length <= atFirst * 1.2);
  return (
    <>
      <pre className={style.text} dir="auto" aria-label={label}>
        {isWhole ? text : `${text.slice(0, atFirst)}…`}
      </pre>
      {!isWhole && (
        <Button small look="quiet" onClick={() => setWhole(true)}>
          Show all {whole(text.length)} characters
        </Button>
      )}
    </>
  );
}
