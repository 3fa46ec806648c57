import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { IconButton } from "./button.tsx";

const SAID_MS = 2_000;

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
    const timer = setTimeout(() => setDone(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <IconButton
      icon={done ? Check : Copy}
      label={done ? doneLabel : label}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setDone(true))}
    />
  );
}
