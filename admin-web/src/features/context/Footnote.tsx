import type { Snapshot } from "../../api/types.ts";
import { signed, whole } from "../../lib/numbers.ts";
import style from "./ContextPanel.module.css";

/** Which figures are exact, and which are estimates. */
export function Footnote({ snapshot }: { snapshot: Snapshot }) {
  const { totals, cache, transparent } = snapshot;
  const counted = totals.provider_tokens ?? null;
  const notCounted = totals.not_counted ?? null;
  return (
    <footer className={style.footnote}>
      <p>
        <strong>What is exact.</strong> Parts, framing and totals add up exactly. Each count is an
        estimate ({totals.estimator}){totals.rough && "; of parts marked rough, a bound or a guess"}
        .{" "}
        {counted !== null &&
          `The provider counts ${whole(counted)} for the whole request: ${signed(counted - totals.after)} beside the estimate. `}
        {notCounted !== null && `The provider has not counted it: ${notCounted} `}
        What ≈ stands before is reckoned on this page, until it is saved.
      </p>
      <p>
        <strong>Cache.</strong>{" "}
        {cache.breakpoint === null
          ? "Nothing is marked to be cached."
          : cache.effective
            ? `${whole(cache.prefix_tokens)} tokens, up to ${cache.breakpoint}, may be kept by the provider.`
            : `The prefix of ${whole(cache.prefix_tokens)} tokens is too short to be kept: this model asks for ${whole(cache.minimum_tokens)}.`}
      </p>
      {!transparent && (
        <p>
          <strong>Injections</strong> were gathered for this view; that may be seen where they come
          from.
        </p>
      )}
      <p className={style.hash}>
        Request <code>{snapshot.request_sha256}</code>
      </p>
    </footer>
  );
}
