import { Link } from "react-router";
import style from "./Crumbs.module.css";

type Props = { trail: readonly { to: string; name: string }[]; here: string };

/** Where this is below a tab, and the way back up. */
export function Crumbs({ trail, here }: Props) {
  return (
    <nav aria-label="Where this is">
      <ol className={style.trail}>
        {trail.map(({ to, name }) => (
          <li key={to}>
            <Link to={to}>{name}</Link>
          </li>
        ))}
        <li aria-current="page">{here}</li>
      </ol>
    </nav>
  );
}
