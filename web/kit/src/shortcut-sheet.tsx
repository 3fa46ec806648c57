import { type ReactNode, useEffect } from "react";
import { Dialog } from "./dialog.tsx";

export interface Shortcut {
  /** Keys by their names; several are pressed together. */
  readonly keys: readonly string[];
  readonly does: string;
}

export interface ShortcutGroup {
  readonly title: string;
  readonly shortcuts: readonly Shortcut[];
}

interface ShortcutSheetProps {
  readonly groups: readonly ShortcutGroup[];
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly labels: { readonly title: string; readonly close: string };
}

/** Whether the key press goes into a text field. */
function isWritten({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable=true]") !== null;
}

/** Lists keyboard shortcuts. `?` opens it; `/` focuses the page's first search field. */
export function ShortcutSheet({ groups, open, onOpenChange, labels }: ShortcutSheetProps): ReactNode {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWritten(event)) return;
      const search = event.key === "/" ? document.querySelector<HTMLInputElement>("main input[type=search]") : null;
      if (event.key !== "?" && search === null) return;
      event.preventDefault();
      if (search !== null) search.focus();
      else onOpenChange(true);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [onOpenChange]);
  return (
    <Dialog open={open} onClose={() => onOpenChange(false)} title={labels.title} closeLabel={labels.close}>
      <div className="grid gap-5">
        {groups.map(({ title, shortcuts }) => (
          <section key={title} className="grid gap-2">
            <h3 className="text-sm font-semibold">{title}</h3>
            <dl className="grid grid-cols-[minmax(0,1fr)_max-content] gap-x-4 gap-y-2 text-sm">
              {shortcuts.map(({ keys, does }) => (
                <div key={does} className="contents">
                  <dt>{does}</dt>
                  <dd className="flex gap-1">
                    {keys.map((key) => (
                      <kbd
                        key={key}
                        className="min-w-6 rounded border border-edge bg-sunken px-1.5 text-center font-mono text-xs leading-6"
                      >
                        {key}
                      </kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
