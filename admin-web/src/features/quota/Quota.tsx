import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Standing } from "../../api/types.ts";
import { when } from "../../lib/times.ts";
import { Button } from "../../ui/Button.tsx";
import { Loaded } from "../../ui/Loaded.tsx";
import { Meter } from "../../ui/Meter.tsx";
import { EditQuota } from "./EditQuota.tsx";
import { metersOf } from "./meters.ts";
import { quotaQuery } from "./queries.ts";
import style from "./Quota.module.css";

/** What the tenant may use in a period, and what is left; its admins set the limits. */
export function Quota({ isAdmin }: { isAdmin: boolean }) {
  const found = useQuery(quotaQuery);
  const [isEdited, setEdited] = useState(false);
  return (
    <section aria-label="Quota" className={style.quota}>
      <Loaded what="the quota" found={found}>
        {(standing) => (
          <>
            <header className={style.head}>
              <h2>Quota of this {standing.period}</h2>
              <span className={style.reset}>begins anew {when(standing.resets_at)}</span>
              {isAdmin && (
                <Button small onClick={() => setEdited(true)}>
                  Change limits
                </Button>
              )}
            </header>
            <Meters standing={standing} />
            {isEdited && <EditQuota standing={standing} onClose={() => setEdited(false)} />}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Meters({ standing }: { standing: Standing }) {
  return (
    <div className={style.meters}>
      {metersOf(standing).map(({ name, taken, limit, shown }) => (
        <div key={name} className={style.measure}>
          <p>
            <strong>{name}</strong> {shown}
          </p>
          {limit !== null && <Meter label={name} value={taken} most={limit} shown={shown} />}
        </div>
      ))}
    </div>
  );
}
