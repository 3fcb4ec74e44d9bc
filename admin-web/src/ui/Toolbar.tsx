import type { ReactNode } from "react";
import style from "./Toolbar.module.css";

/** Filters and actions above a list, in a row that breaks where it has to. */
export function Toolbar({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div role="group" aria-label={label} className={style.bar}>
      {children}
    </div>
  );
}

type SelectProps = {
  label: string;
  value: string;
  options: readonly (readonly [value: string, name: string])[];
  onChange: (value: string) => void;
};

/** A choice with its name in front of it. */
export function Select({ label, value, options, onChange }: SelectProps) {
  return (
    <label className={style.choice}>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

type SearchProps = { label: string; value: string; onChange: (value: string) => void };

export function SearchField({ label, value, onChange }: SearchProps) {
  return (
    <input
      type="search"
      className={style.search}
      aria-label={label}
      placeholder={label}
      value={value}
      maxLength={200}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
