import { clsx } from "clsx";
import {
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useEffect,
  useId,
  useState,
} from "react";

export const inputClass = clsx(
  "block w-full min-h-10 rounded-lg border border-edge bg-surface px-3 py-2 text-ink placeholder:text-muted",
  "aria-invalid:border-bad disabled:bg-sunken disabled:text-muted",
);

export interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The error message for the value. */
  readonly error?: string | undefined;
}

interface Bound {
  readonly id: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: true;
}

/** Ties a label, one control, a hint and an error together. `children` renders the control with the attributes it is given. */
export function LabelledField({
  label,
  labelHidden = false,
  hint,
  error,
  children,
}: FieldProps & { readonly labelHidden?: boolean; readonly children: (bound: Bound) => ReactNode }): ReactNode {
  const id = useId();
  const described = [hint === undefined ? null : `${id}-hint`, error === undefined ? null : `${id}-error`].filter((name) => name !== null);
  return (
    <div className="grid min-w-0 grid-cols-1 gap-1.5">
      <label htmlFor={id} className={labelHidden ? "sr-only" : "text-sm font-medium"}>
        {label}
      </label>
      {children({
        id,
        ...(described.length > 0 ? { "aria-describedby": described.join(" ") } : {}),
        ...(error === undefined ? {} : { "aria-invalid": true }),
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = FieldProps & Omit<InputHTMLAttributes<HTMLInputElement>, "id"> & { readonly ref?: Ref<HTMLInputElement> };

export function TextField({ label, hint, error, className, ...rest }: TextFieldProps): ReactNode {
  return (
    <LabelledField label={label} hint={hint} error={error}>
      {(bound) => <input {...rest} {...bound} className={clsx(inputClass, className)} />}
    </LabelledField>
  );
}

interface EnteredTextFieldProps extends FieldProps {
  readonly value: string;
  /** Called with the entered text, trimmed. */
  readonly onEnter: (value: string) => void;
  readonly placeholder?: string;
  readonly maxLength?: number;
}

/** A text field whose value applies once it is entered: on Enter or on blur. */
export function EnteredTextField({ value, onEnter, ...rest }: EnteredTextFieldProps): ReactNode {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const enter = () => {
    if (text.trim() !== value) onEnter(text.trim());
  };
  return (
    <TextField
      {...rest}
      type="search"
      value={text}
      onChange={({ target }) => setText(target.value)}
      onBlur={enter}
      onKeyDown={({ key }) => key === "Enter" && enter()}
    />
  );
}

type TextAreaFieldProps = FieldProps & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "id">;

export function TextAreaField({ label, hint, error, className, ...rest }: TextAreaFieldProps): ReactNode {
  return (
    <LabelledField label={label} hint={hint} error={error}>
      {(bound) => <textarea rows={4} {...rest} {...bound} className={clsx(inputClass, className)} />}
    </LabelledField>
  );
}

export interface SelectChoice {
  readonly value: string;
  readonly label: string;
}

type SelectFieldProps = FieldProps & Omit<SelectHTMLAttributes<HTMLSelectElement>, "id"> & { readonly choices: readonly SelectChoice[] };

/** The native select, which works with every keyboard and on every phone. */
export function SelectField({ label, hint, error, className, choices, ...rest }: SelectFieldProps): ReactNode {
  return (
    <LabelledField label={label} hint={hint} error={error}>
      {(bound) => (
        <select {...rest} {...bound} className={clsx(inputClass, className)}>
          {choices.map(({ value, label: name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </LabelledField>
  );
}

interface CheckboxFieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "type" | "id"> {
  readonly label: string;
  readonly hint?: string;
}

export function CheckboxField({ label, hint, className, ...rest }: CheckboxFieldProps): ReactNode {
  const id = useId();
  return (
    <div className={clsx("flex items-start gap-2.5", className)}>
      <input
        {...rest}
        id={id}
        type="checkbox"
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className="mt-0.5 size-6 shrink-0 accent-accent"
      />
      <div>
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-sm text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
