import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Button, IconButton } from "./button.tsx";
import { TextField } from "./field.tsx";

export interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  /** Label of the close button. */
  readonly closeLabel: string;
  readonly children: ReactNode;
  readonly wide?: boolean;
}

/** Traps the focus and returns it to where it was when closed. */
export function Dialog({ open, onClose, title, description, closeLabel, children, wide = false }: DialogProps): ReactNode {
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/45" />
        <Base.Popup
          className={
            "fixed inset-x-0 bottom-0 z-50 mx-auto max-h-[92dvh] w-full overflow-y-auto rounded-t-2xl border border-line bg-surface p-5 " +
            "shadow-pop sm:top-[12vh] sm:bottom-auto sm:max-h-[80vh] sm:rounded-2xl " +
            (wide ? "sm:max-w-3xl" : "sm:max-w-lg")
          }
        >
          <div className="mb-4 flex items-start justify-between gap-4">
            <div className="grid gap-1">
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              {description !== undefined && <Base.Description className="text-sm text-muted">{description}</Base.Description>}
            </div>
            <IconButton icon={X} label={closeLabel} onClick={onClose} className="-mt-1 -mr-1" />
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface ConfirmDialogProps extends Omit<DialogProps, "children"> {
  readonly confirmLabel: string;
  readonly onConfirm: () => void;
  readonly busy?: boolean;
  /** For destructive actions: text that must be typed to confirm, and the label that asks for it. */
  readonly typed?: { readonly text: string; readonly label: string };
  readonly children?: ReactNode;
}

export function ConfirmDialog({ confirmLabel, onConfirm, busy = false, typed, children, ...dialog }: ConfirmDialogProps): ReactNode {
  const [given, setGiven] = useState("");
  const { open } = dialog;
  useEffect(() => setGiven(""), [open]);
  const allowed = typed === undefined || given.trim() === typed.text;
  return (
    <Dialog {...dialog}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (allowed) onConfirm();
        }}
      >
        {children}
        {typed !== undefined && (
          <TextField label={typed.label} value={given} onChange={(event) => setGiven(event.target.value)} autoComplete="off" />
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={dialog.onClose}>{dialog.closeLabel}</Button>
          <Button type="submit" look="danger" disabled={!allowed} busy={busy}>
            {confirmLabel}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
