import { useMutation } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { ApiProblem } from "../../api/problem.ts";
import type { WebSession } from "../../api/types.ts";
import { signIn } from "../../api/web-session.ts";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import style from "./SignInForm.module.css";

type Props = {
  onDone: () => void;
  /** Who was signed in before the session ended. */
  again?: WebSession;
};

/** Trade an API key for a session of this browser. */
export function SignInForm({ onDone, again }: Props) {
  const [key, setKey] = useState("");
  const attempt = useMutation({
    mutationFn: signIn,
    onSuccess: (session) => {
      // What is on the page belongs to the one who was here before.
      if (again && session.user.id !== again.user.id) window.location.reload();
      else onDone();
    },
  });

  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    attempt.mutate(key.trim());
  };

  return (
    <form className={style.form} onSubmit={submit}>
      {again ? <p>Your session has ended. Nothing on the page is lost.</p> : <h1>hango</h1>}
      <Field
        label="API key"
        hint="hk_…; the command line's is in the file that hango up names when it starts."
        error={attempt.error && said(attempt.error)}
      >
        {(control) => (
          <input
            {...control}
            type="password"
            autoComplete="current-password"
            autoFocus
            required
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" look="primary" disabled={attempt.isPending || key.trim() === ""}>
        {attempt.isPending ? "Signing in …" : "Sign in"}
      </Button>
    </form>
  );
}

const said = (error: Error): string =>
  error instanceof ApiProblem && error.status === 401
    ? "This key is not known, or has been revoked. Look for a typing mistake."
    : error.message;
