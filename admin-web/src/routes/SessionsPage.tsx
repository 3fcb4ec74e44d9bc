import { useState } from "react";
import { useSearchParams } from "react-router";
import { filtersOf, withFilter } from "../features/sessions/filters.ts";
import { ImportFiles } from "../features/sessions/ImportFiles.tsx";
import { NewSession } from "../features/sessions/NewSession.tsx";
import { SessionFilters } from "../features/sessions/SessionFilters.tsx";
import { SessionList } from "../features/sessions/SessionList.tsx";
import { Button } from "../ui/Button.tsx";
import { PageHead } from "../ui/PageHead.tsx";

export default function SessionsPage() {
  const [search, setSearch] = useSearchParams();
  const [asked, setAsked] = useState<"new" | "import" | null>(null);
  const filters = filtersOf(search);
  const close = () => setAsked(null);
  return (
    <>
      <PageHead
        title="Sessions"
        actions={
          <>
            <Button onClick={() => setAsked("import")}>Import</Button>
            <Button look="primary" onClick={() => setAsked("new")}>
              New session
            </Button>
          </>
        }
      />
      <SessionFilters
        filters={filters}
        onChange={(name, value) =>
          setSearch((now) => withFilter(now, name, value), { replace: true })
        }
      />
      <SessionList filters={filters} />
      {asked === "new" && <NewSession onClose={close} />}
      {asked === "import" && <ImportFiles onClose={close} />}
    </>
  );
}
