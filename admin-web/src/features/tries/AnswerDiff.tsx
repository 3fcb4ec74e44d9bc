import type { TryDiff } from "../../api/types.ts";
import { percent, whole } from "../../lib/numbers.ts";
import type { ToolCall } from "./diff.ts";
import style from "./TryPanel.module.css";

/** Both answers as one text: what only the first says struck through, what only the second says marked. */
export function AnswerDiff({ answer }: { answer: NonNullable<TryDiff["answer"]> }) {
  const { change, similarity, text, tool_calls: calls } = answer;
  if (change === "same") return <p>Both answered the same, word for word.</p>;
  return (
    <section aria-label="Differences of the answers">
      <h3>Answered differently</h3>
      <p>{percent(similarity)} of the words are shared. An answer also changes by chance.</p>
      <pre className={style.diff} dir="auto" tabIndex={0}>
        {text.map((hunk, index) =>
          hunk.op === "equal" ? (
            <span key={index}>{hunk.after}</span>
          ) : (
            <span key={index}>
              {hunk.before && <del>{hunk.before}</del>}
              {hunk.after && <ins>{hunk.after}</ins>}
            </span>
          ),
        )}
      </pre>
      {calls.before.length + calls.after.length > 0 && (
        <p>
          Tool calls: {whole(calls.same)} the same; only the first: {named(calls.before)}; only the
          second: {named(calls.after)}.
        </p>
      )}
    </section>
  );
}

const named = (calls: readonly ToolCall[]): string =>
  calls.map(({ name, input }) => `${name} ${JSON.stringify(input)}`).join(", ") || "none";
