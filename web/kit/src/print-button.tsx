import { Printer } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";

/** Prints the page in the light theme, without controls. */
export function PrintButton({ label }: { readonly label: string }): ReactNode {
  return (
    <Button icon={Printer} onClick={() => window.print()}>
      {label}
    </Button>
  );
}
