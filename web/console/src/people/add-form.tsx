import { Button } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { type ReactNode, useState } from "react";
import { recordKind } from "../records/record-kinds.ts";
import { ReferenceField } from "../records/reference-field.tsx";

/** Chooses a record and passes it to `add`. */
export function AddForm({
  of,
  label,
  buttonLabel,
  add,
}: {
  readonly of: string;
  readonly label: string;
  readonly buttonLabel: string;
  readonly add: { readonly isPending: boolean; readonly error: unknown; mutateAsync(id: string): Promise<unknown> };
}): ReactNode {
  const [chosen, setChosen] = useState<string | null>(null);
  const kind = recordKind(of);
  if (kind === undefined) return null;
  return (
    <form
      className="mt-4 grid gap-3 border-t border-line pt-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen === null) return;
        add.mutateAsync(chosen).then(
          () => setChosen(null),
          () => null,
        );
      }}
    >
      <ReferenceField kind={kind} label={label} value={chosen} onChange={setChosen} />
      <FormError error={add.error} />
      <div>
        <Button type="submit" busy={add.isPending} disabled={chosen === null}>
          {buttonLabel}
        </Button>
      </div>
    </form>
  );
}
