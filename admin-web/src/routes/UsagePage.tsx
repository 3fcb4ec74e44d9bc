import { useSearchParams } from "react-router";
import { useIsAdmin } from "../api/use-is-admin.ts";
import { Quota } from "../features/quota/Quota.tsx";
import { UsageView } from "../features/usage/UsageView.tsx";
import { wishOf } from "../features/usage/wish.ts";
import { PageHead } from "../ui/PageHead.tsx";

export default function UsagePage() {
  const [search, setSearch] = useSearchParams();
  return (
    <>
      <PageHead title="Usage" />
      <Quota isAdmin={useIsAdmin()} />
      <UsageView
        wish={wishOf(search)}
        onWish={(name, value) =>
          setSearch(
            (now) => {
              const next = new URLSearchParams(now);
              next.set(name, value);
              return next;
            },
            { replace: true },
          )
        }
      />
    </>
  );
}
