import type { ReactNode } from "react";
import { Link } from "react-router";
import style from "./PageHead.module.css";

type Props = {
  title: string;
  /** The list that this is one of. */
  up?: { to: string; name: string };
  /** A line of what is good to know about it. */
  about?: ReactNode;
  actions?: ReactNode;
};

/** The top of a page: its name, which is the browser's title too, and what can be done there. */
export function PageHead({ title, up, about, actions }: Props) {
  return (
    <header className={style.head}>
      <title>{`${title} · hango`}</title>
      <div className={style.words}>
        {up && (
          <nav aria-label={`Up to ${up.name}`} className={style.up}>
            <Link to={up.to}>{up.name}</Link>
            <span aria-hidden="true"> ›</span>
          </nav>
        )}
        <h1 dir="auto" className={style.title}>
          {title}
        </h1>
        {about && <div className={style.about}>{about}</div>}
      </div>
      {actions && <div className={style.actions}>{actions}</div>}
    </header>
  );
}
