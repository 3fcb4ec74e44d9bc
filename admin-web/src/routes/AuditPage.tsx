import { useSearchParams } from "react-router";
import { useIsAdmin } from "../api/use-is-admin.ts";
import { ACTIONS } from "../features/audit/actions.ts";
import { AuditList } from "../features/audit/AuditList.tsx";
import { PageHead } from "../ui/PageHead.tsx";
import { Select, Toolbar } from "../ui/Toolbar.tsx";

export default function AuditPage() {
  const [search, setSearch] = useSearchParams();
  const isAdmin = useIsAdmin();
  const given = search.get("action");
  const action = ACTIONS.find((each) => each === given) ?? "";
  return (
    <>
      <PageHead
        title="Audit"
        about={isAdmin ? "What everybody in the tenant did." : "What you did."}
      />
      <Toolbar label="Filters">
        <Select
          label="Action"
          value={action}
          options={[["", "All"], ...ACTIONS.map((each) => [each, each] as const)]}
          onChange={(value) => setSearch(value ? { action: value } : {}, { replace: true })}
        />
      </Toolbar>
      <AuditList action={action} isAdmin={isAdmin} />
    </>
  );
}
