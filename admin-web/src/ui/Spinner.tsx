import style from "./Spinner.module.css";

/** Says that something is under way; `label` is for those who cannot see it turn. */
export function Spinner({ label }: { label: string }) {
  return (
    <span role="status" className={style.place}>
      <span className={style.spinner} aria-hidden="true" />
      <span>{label}</span>
    </span>
  );
}
