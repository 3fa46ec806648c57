import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { useBlocker } from "@tanstack/react-router";
import type { ReactNode } from "react";

const tenantOf = (search: { readonly tenant?: string }) => search.tenant;

/** Asks before a page is left whose form holds what nobody saved. */
export function UnsavedQuestion({ isUnsaved }: { readonly isUnsaved: () => boolean }): ReactNode {
  const leaving = useBlocker({
    // What is looked for stands in the address, too, and leaves the form where it is.
    shouldBlockFn: ({ current, next }) =>
      (current.pathname !== next.pathname || tenantOf(current.search) !== tenantOf(next.search)) && isUnsaved(),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      open={leaving.status === "blocked"}
      onClose={() => leaving.reset?.()}
      title="Leave without saving?"
      description="Your changes to this form will be lost."
      closeLabel="Stay"
      confirmLabel="Leave"
      onConfirm={() => leaving.proceed?.()}
    />
  );
}
