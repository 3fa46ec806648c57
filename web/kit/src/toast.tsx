import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import type { ReactNode } from "react";

const manager = Toast.createToastManager();

/** Shows a short confirmation, optionally with undo. Errors belong next to what they are about. */
export function showToast(text: string, undo?: { readonly label: string; readonly run: () => void }): void {
  manager.add({ title: text, ...(undo === undefined ? {} : { actionProps: { children: undo.label, onClick: undo.run } }) });
}

function Shown({ dismissLabel }: { readonly dismissLabel: string }): ReactNode {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="mt-2 flex items-center gap-3 rounded-xl border border-line bg-surface px-4 py-2.5 text-ink shadow-pop"
    >
      <Toast.Title className="grow text-sm" />
      {toast.actionProps !== undefined && <Toast.Action className="shrink-0 rounded px-2 py-1 text-sm font-semibold text-accent" />}
      <Toast.Close aria-label={dismissLabel} className="inline-flex size-7 items-center justify-center rounded hover:bg-sunken">
        <X aria-hidden size={16} />
      </Toast.Close>
    </Toast.Root>
  ));
}

export function Toasts({ dismissLabel }: { readonly dismissLabel: string }): ReactNode {
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 left-4 z-50 sm:left-auto sm:w-96">
          <Shown dismissLabel={dismissLabel} />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}
