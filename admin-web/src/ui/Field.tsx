import { type ReactNode, useId } from "react";
import style from "./Field.module.css";

type Props = {
  label: string;
  hint?: ReactNode;
  error?: ReactNode;
  /** Draws the control; the props connect it with its label, hint and error. */
  children: (control: {
    id: string;
    className: string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean | undefined;
  }) => ReactNode;
};

/** A labelled control with what helps to fill it in, or says what is wrong with it. */
export function Field({ label, hint, error, children }: Props) {
  const id = useId();
  const about = `${id}-about`;
  const said = error ?? hint;
  return (
    <div className={style.field}>
      <label htmlFor={id} className={style.label}>
        {label}
      </label>
      {children({
        id,
        className: style.control ?? "",
        "aria-describedby": said ? about : undefined,
        "aria-invalid": error ? true : undefined,
      })}
      {said && (
        <p id={about} className={error ? style.error : style.hint}>
          {said}
        </p>
      )}
    </div>
  );
}
