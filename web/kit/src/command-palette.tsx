import { Dialog as Base } from "@base-ui/react/dialog";
import { clsx } from "clsx";
import { type LucideIcon, Search } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useState } from "react";

export interface Command {
  readonly id: string;
  readonly label: string;
  readonly group?: string;
  readonly icon?: LucideIcon;
  readonly run: () => void;
}

interface CommandPaletteProps {
  readonly commands: readonly Command[];
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly labels: { readonly title: string; readonly placeholder: string; readonly nothing: string };
}

function found(commands: readonly Command[], typed: string): readonly Command[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return commands.filter(({ label, group = "" }) => words.every((word) => `${label} ${group}`.toLowerCase().includes(word)));
}

/** A searchable list of all pages and commands, opened by Ctrl+K or Cmd+K. */
export function CommandPalette({ commands, open, onOpenChange, labels }: CommandPaletteProps): ReactNode {
  const id = useId();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const matching = useMemo(() => found(commands, typed), [commands, typed]);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      onOpenChange(!open);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [open, onOpenChange]);
  useEffect(() => {
    if (open) setTyped("");
  }, [open]);
  useEffect(() => setAt(0), [typed]);

  const choose = (command: Command | undefined) => {
    if (command === undefined) return;
    onOpenChange(false);
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") choose(matching[at]);
    else if (event.key === "ArrowDown") setAt(Math.min(at + 1, matching.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else return;
    event.preventDefault();
  };

  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/45" />
        <Base.Popup className="fixed inset-x-3 top-[10vh] z-50 mx-auto max-w-xl overflow-hidden rounded-2xl border border-line bg-surface shadow-pop">
          <Base.Title className="sr-only">{labels.title}</Base.Title>
          <div className="flex items-center gap-3 border-b border-line px-4">
            <Search aria-hidden size={18} className="text-muted" />
            <input
              role="combobox"
              aria-expanded="true"
              aria-controls={`${id}-list`}
              aria-activedescendant={matching[at] === undefined ? undefined : `${id}-${at}`}
              aria-label={labels.placeholder}
              placeholder={labels.placeholder}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
              onKeyDown={onKeyDown}
              className="h-13 grow bg-transparent outline-none placeholder:text-muted"
            />
          </div>
          <ul id={`${id}-list`} role="listbox" aria-label={labels.title} className="max-h-[50vh] overflow-y-auto p-2">
            {matching.map((command, index) => (
              <li
                key={command.id}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === at}
                onMouseMove={() => setAt(index)}
                onClick={() => choose(command)}
                className={clsx(
                  "flex min-h-10 cursor-pointer items-center gap-3 rounded-lg px-3",
                  index === at && "bg-accent-soft text-accent-strong",
                )}
              >
                {command.icon && <command.icon aria-hidden size={18} />}
                <span className="grow">{command.label}</span>
                {command.group !== undefined && <span className="text-xs text-muted">{command.group}</span>}
              </li>
            ))}
          </ul>
          {matching.length === 0 && (
            <p role="status" className="px-5 pb-5 text-muted">
              {labels.nothing}
            </p>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
