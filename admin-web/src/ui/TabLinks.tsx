import { NavLink } from "react-router";
import style from "./Tabs.module.css";

type Props = {
  label: string;
  /** `end`: only where the address is exactly this one. */
  tabs: readonly { to: string; name: string; end?: boolean }[];
};

/** Pages of one thing, each with an address of its own, looking like tabs. */
export function TabLinks({ label, tabs }: Props) {
  return (
    <nav aria-label={label} className={style.list}>
      {tabs.map(({ to, name, end }) => (
        <NavLink
          key={to}
          to={to}
          end={end ?? false}
          className={({ isActive }) => `${style.tab} ${isActive ? style.chosen : ""}`}
        >
          {name}
        </NavLink>
      ))}
    </nav>
  );
}
