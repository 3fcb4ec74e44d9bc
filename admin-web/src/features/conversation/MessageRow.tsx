import type { Message } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { when } from "../../lib/times.ts";
import { Blocks } from "../../ui/Blocks.tsx";
import { classes } from "../../ui/classes.ts";
import style from "./MessageRow.module.css";

const FOLDED = 3000; // characters of a block

const SAYS = { user: "User", assistant: "Assistant", system: "System" };

/** One message: who speaks, how much it is, and all of its blocks. */
export function MessageRow({ message }: { message: Message }) {
  const { role, seq, tokens } = message;
  return (
    <div className={classes(style.message, role === "assistant" && style.assistant)}>
      <header className={style.head}>
        <h2>{role in SAYS ? SAYS[role as keyof typeof SAYS] : role}</h2>
        <span>message {whole(seq)}</span>
        {tokens !== null && <span title="An estimate">≈ {whole(tokens)} tokens</span>}
        <time dateTime={message.created_at} className={style.time}>
          {when(message.created_at)}
        </time>
      </header>
      <Blocks blocks={message.content} atFirst={FOLDED} />
    </div>
  );
}
