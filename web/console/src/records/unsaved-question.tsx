import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { useBlocker } from "@tanstack/react-router";
import type { ReactNode } from "react";

const tenantOf = (search: { readonly tenant?: string }) => search.tenant;

/** Asks before leaving a page whose form has unsaved input. */
export function UnsavedQuestion({ isUnsaved }: { readonly isUnsaved: () => boolean }): ReactNode {
  const leaving = useBlocker({
    // Search parameters are in the URL too; changing them leaves the form in place.
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
