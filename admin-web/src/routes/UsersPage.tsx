import { useState, useSyncExternalStore } from "react";
import { signedIn } from "../api/signed-in.ts";
import { NewUser } from "../features/users/NewUser.tsx";
import { UserList } from "../features/users/UserList.tsx";
import { Button } from "../ui/Button.tsx";
import { PageHead } from "../ui/PageHead.tsx";

export default function UsersPage() {
  const state = useSyncExternalStore(signedIn.subscribe, signedIn.get);
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <PageHead
        title="Users"
        about="The people of the tenant."
        actions={
          <Button look="primary" onClick={() => setAsked(true)}>
            New user
          </Button>
        }
      />
      <UserList ownId={"session" in state ? state.session.user.id : ""} />
      {isAsked && <NewUser onClose={() => setAsked(false)} />}
    </>
  );
}
