import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { IconButton } from "./button.tsx";

const SHOWN_MS = 2_000;

/** Pages in insecure contexts (plain HTTP from another machine) have no clipboard API, but can copy a selection. */
async function copied(text: string, button: HTMLElement): Promise<void> {
  if ("clipboard" in navigator) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr-only";
  // Next to the button, because an open dialog allows selection only inside it.
  button.after(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  button.focus();
  if (!isDone) throw new Error("the browser copies nothing");
}

export function CopyButton({
  text,
  label,
  doneLabel,
}: {
  readonly text: string;
  readonly label: string;
  readonly doneLabel: string;
}): ReactNode {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => setDone(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <IconButton
      icon={done ? Check : Copy}
      label={done ? doneLabel : label}
      onClick={({ currentTarget }) =>
        void copied(text, currentTarget).then(
          () => setDone(true),
          () => null,
        )
      }
    />
  );
}
