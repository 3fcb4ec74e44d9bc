import { useState } from "react";
import { Button } from "./Button.tsx";

const SAID = {
  no: "",
  yes: "Copied.",
  failed: "The browser did not allow it: mark it and copy it yourself.",
};

/** Puts a text on the clipboard, and says that it is there. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState<keyof typeof SAID>("no");
  const copy = async () => {
    try {
      // Browsers leave the clipboard out where a page came neither by https nor from this machine.
      await navigator.clipboard.writeText(text);
      setCopied("yes");
    } catch {
      setCopied("failed");
    }
  };
  return (
    <>
      <Button onClick={() => void copy()} aria-label={`Copy ${what}`}>
        Copy
      </Button>
      <span role="status">{SAID[copied]}</span>
    </>
  );
}
