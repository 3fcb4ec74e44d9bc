import { useQuery } from "@tanstack/react-query";
import { Suspense, useState, useSyncExternalStore } from "react";
import { NavLink, Outlet, useNavigation } from "react-router";
import { signedIn } from "../api/signed-in.ts";
import { signOut, webSessionQuery } from "../api/web-session.ts";
import { SignInForm } from "../features/sign-in/SignInForm.tsx";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { ErrorState, LoadingState } from "../ui/states.tsx";
import { queryClient } from "./query-client.ts";
import { applyTheme, type Theme, theme } from "./theme.ts";
import style from "./Shell.module.css";

const PAGES = [
  ["/sessions", "Sessions"],
  ["/agents", "Agents"],
  ["/usage", "Usage"],
  ["/audit", "Audit"],
  ["/keys", "Keys"],
] as const;
const OF_ADMINS = [["/users", "Users"]] as const;

/** The frame of all pages: who is signed in, where one can go, and the page itself. */
export function Shell() {
  const found = useQuery(webSessionQuery);
  const state = useSyncExternalStore(signedIn.subscribe, signedIn.get);
  const { status } = state;

  if (status === "unknown" && found.isPending) return <LoadingState what="hango" />;
  if (status === "unknown" && found.isError)
    return <ErrorState what="hango" error={found.error} onRetry={() => void found.refetch()} />;
  if (!("session" in state))
    return (
      <main>
        <SignInForm onDone={refreshAll} />
      </main>
    );

  return (
    <div className={style.shell}>
      <a className={style.skip} href="#main">
        To the page
      </a>
      <header className={style.head}>
        <strong className={style.brand}>hango</strong>
        <nav aria-label="Pages" className={style.nav}>
          {(state.session.role === "admin" ? [...PAGES, ...OF_ADMINS] : PAGES).map(([to, name]) => (
            <NavLink key={to} to={to} className={style.link ?? ""}>
              {name}
            </NavLink>
          ))}
        </nav>
        <div className={style.tools}>
          <span className={style.user}>
            {state.session.user.name} · {state.session.tenant.name}
          </span>
          <ThemeChoice />
          <Button small look="quiet" onClick={() => void signOut().then(refreshAll)}>
            Sign out
          </Button>
        </div>
      </header>
      <Progress />
      <main id="main" className={style.main}>
        <Suspense fallback={<LoadingState what="the page" />}>
          <Outlet />
        </Suspense>
      </main>
      {status === "expired" && (
        <Dialog title="Please sign in again">
          <SignInForm onDone={refreshAll} again={state.session} />
        </Dialog>
      )}
    </div>
  );
}

/** After another sign-in everything is asked for anew; what is half done on the page stays. */
function refreshAll(): void {
  void queryClient.invalidateQueries();
}

function ThemeChoice() {
  const [chosen, setChosen] = useState<Theme>(theme);
  return (
    <select
      aria-label="Colours"
      className={style.theme}
      value={chosen}
      onChange={(event) => {
        // The options below are the themes.
        const next = event.target.value as Theme;
        applyTheme(next);
        setChosen(next);
      }}
    >
      <option value="system">As the system</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  );
}

/** A line under the header while the next page is fetched. */
function Progress() {
  const navigation = useNavigation();
  return navigation.state === "idle" ? null : (
    <div className={style.progress} role="progressbar" aria-label="Loading the page" />
  );
}
