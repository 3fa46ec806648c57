import { type ReactNode, type SubmitEvent, useState } from "react";
import { ApiError, fieldMessageOf } from "./api-error.ts";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";
import { FormError } from "./form-error.tsx";

interface TwoFactorBeginProps {
  readonly lead: string;
  /** Called without a password first, because it is needed only some time after signing in. */
  readonly onBegin: (password: string | undefined) => void;
  /** Offered to people without a password who signed in too long ago. */
  readonly onSignOut: () => void;
  readonly error: unknown;
  readonly busy: boolean;
  readonly labels: { readonly begin: string; readonly password: string; readonly passwordHint: string; readonly signOut: string };
}

/** The button that begins to set up two-factor sign-in, and the password if the gateway asks for it. */
export function TwoFactorBegin({ lead, onBegin, onSignOut, error, busy, labels }: TwoFactorBeginProps): ReactNode {
  const message = fieldMessageOf(error, "password");
  const [isAsking, setAsking] = useState(false);
  const [tried, setTried] = useState(false);
  if (message !== undefined && !isAsking) setAsking(true);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setTried(isAsking);
    onBegin(isAsking ? String(new FormData(event.currentTarget).get("password") ?? "") : undefined);
  };
  return (
    <form className="grid max-w-sm justify-items-start gap-4" onSubmit={submit}>
      <p className="text-muted">{lead}</p>
      {isAsking && (
        <div className="w-full">
          <TextField
            label={labels.password}
            name="password"
            type="password"
            autoComplete="current-password"
            hint={labels.passwordHint}
            required
            autoFocus
            error={tried ? message : undefined}
          />
        </div>
      )}
      <FormError error={error} atFields={["password"]} />
      {error instanceof ApiError && error.code === "recent_sign_in_required" ? (
        <Button look="primary" onClick={onSignOut}>
          {labels.signOut}
        </Button>
      ) : (
        <Button type="submit" look="primary" busy={busy}>
          {labels.begin}
        </Button>
      )}
    </form>
  );
}
