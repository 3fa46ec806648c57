import { Printer } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";

/** Prints the page: what cannot be read on paper is left out, and everything is in the light. */
export function PrintButton({ label }: { readonly label: string }): ReactNode {
  return (
    <Button icon={Printer} onClick={() => window.print()}>
      {label}
    </Button>
  );
}
