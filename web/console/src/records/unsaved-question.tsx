import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { useBlocker } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** Asks before a page is left whose form holds what nobody saved. */
export function UnsavedQuestion({ isUnsaved }: { readonly isUnsaved: () => boolean }): ReactNode {
  const leaving = useBlocker({
    // What is looked for and which tenant it is of stand in the address, too.
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isUnsaved(),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      open={leaving.status === "blocked"}
      onClose={() => leaving.reset?.()}
      title="Leave without saving?"
      description="What you changed in the form is not saved, and would be gone."
      closeLabel="Stay"
      confirmLabel="Leave"
      onConfirm={() => leaving.proceed?.()}
    />
  );
}
