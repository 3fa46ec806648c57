import { Button } from "@gatehouse/web-kit/button.tsx";
import type { ReactNode } from "react";

/** Shown above a form if someone else changed the record while it was being edited. */
export function ChangedMeanwhile({ children, onShow }: { readonly children: ReactNode; readonly onShow: () => void }): ReactNode {
  return (
    <div role="status" className="mb-4 flex flex-wrap items-center gap-3 rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn">
      {children}
      <Button onClick={onShow}>Show the current version</Button>
    </div>
  );
}
