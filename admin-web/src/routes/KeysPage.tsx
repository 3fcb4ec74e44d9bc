import { useState } from "react";
import { useIsAdmin } from "../api/use-is-admin.ts";
import { KeyList } from "../features/keys/KeyList.tsx";
import { NewKey } from "../features/keys/NewKey.tsx";
import { Button } from "../ui/Button.tsx";
import { PageHead } from "../ui/PageHead.tsx";

export default function KeysPage() {
  const isAdmin = useIsAdmin();
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <PageHead
        title="Keys"
        about={isAdmin ? "All keys of the tenant." : "Your own keys."}
        actions={
          <Button look="primary" onClick={() => setAsked(true)}>
            New key
          </Button>
        }
      />
      <KeyList isAdmin={isAdmin} />
      {isAsked && <NewKey isAdmin={isAdmin} onClose={() => setAsked(false)} />}
    </>
  );
}
