import { clsx } from "clsx";
import { LoaderCircle, type LucideIcon } from "lucide-react";
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";

type ButtonStyle = "primary" | "secondary" | "quiet" | "danger";

const LOOKS: Readonly<Record<ButtonStyle, string>> = {
  primary: "bg-accent text-on-accent hover:bg-accent-strong",
  secondary: "bg-surface text-ink border border-edge hover:bg-sunken",
  quiet: "text-ink hover:bg-sunken",
  danger: "bg-bad text-on-bad hover:opacity-90",
};

/** Classes for a link that looks like a button. */
export function buttonClass(style: ButtonStyle = "secondary", more?: string): string {
  return clsx(
    "inline-flex min-h-9 items-center justify-center gap-2 rounded-lg px-3.5 py-1.5 text-sm font-medium",
    "transition-colors disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:cursor-not-allowed aria-disabled:opacity-55",
    LOOKS[style],
    more,
  );
}

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: ButtonStyle;
  readonly icon?: LucideIcon;
  /** Work is in progress: the button ignores presses but keeps its name and the focus, which a disabled button would lose. */
  readonly busy?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({
  look,
  icon: Icon,
  busy = false,
  className,
  children,
  disabled,
  type = "button",
  onClick,
  ...rest
}: ButtonProps): ReactNode {
  return (
    <button
      {...rest}
      type={type}
      disabled={disabled === true && !busy}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      // Enter in a form field presses the submit button too.
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={buttonClass(look, className)}
    >
      {busy ? <LoaderCircle aria-hidden size={16} className="animate-spin" /> : Icon && <Icon aria-hidden size={16} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ButtonProps, "children" | "busy" | "icon"> {
  readonly icon: LucideIcon;
  /** Accessible name, also shown as a tooltip. */
  readonly label: string;
}

export function IconButton({ icon: Icon, label, look = "quiet", className, type = "button", ...rest }: IconButtonProps): ReactNode {
  return (
    <button
      {...rest}
      type={type}
      aria-label={label}
      title={label}
      className={clsx("inline-flex size-9 shrink-0 items-center justify-center rounded-lg transition-colors", LOOKS[look], className)}
    >
      <Icon aria-hidden size={18} />
    </button>
  );
}
