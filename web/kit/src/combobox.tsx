import { Combobox as Base } from "@base-ui/react/combobox";
import { Check, ChevronsUpDown } from "lucide-react";
import { type ReactNode, useState } from "react";
import { LabelledField, type FieldProps, inputClass } from "./field.tsx";

export interface ComboboxItem {
  readonly value: string;
  readonly label: string;
  /** More detail on a smaller line; searched too. */
  readonly detail?: string;
}

interface ComboboxFieldProps extends FieldProps {
  readonly items: readonly ComboboxItem[];
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
  /** Called with the typed text, if `items` is only part of the choices. */
  readonly onSearch?: (text: string) => void;
  readonly emptyLabel: string;
  readonly openLabel: string;
  readonly placeholder?: string;
  /** Hides the label where there is no room; screen readers still announce it. */
  readonly labelHidden?: boolean;
}

/** A searchable selection from many items. */
export function ComboboxField({
  label,
  labelHidden = false,
  hint,
  error,
  items,
  value,
  onChange,
  onSearch,
  emptyLabel,
  openLabel,
  placeholder,
}: ComboboxFieldProps): ReactNode {
  const found = items.find((item) => item.value === value) ?? null;
  // Keeps the same object while its label and detail are unchanged, because a new object replaces the text being typed.
  const [selected, setSelected] = useState(found);
  if (selected?.value !== found?.value || selected?.label !== found?.label) setSelected(found);
  return (
    <LabelledField label={label} labelHidden={labelHidden} hint={hint} error={error}>
      {(bound) => (
        <Base.Root<ComboboxItem>
          items={items}
          value={selected}
          onValueChange={(item) => onChange(item?.value ?? null)}
          onInputValueChange={(text) => onSearch?.(text)}
          itemToStringLabel={(item) => item.label}
          isItemEqualToValue={(one, other) => one.value === other.value}
        >
          <div className="relative">
            <Base.Input {...bound} placeholder={placeholder} className={`${inputClass} pr-10`} />
            <Base.Trigger
              aria-label={openLabel}
              className="absolute inset-y-1 right-1 inline-flex w-8 items-center justify-center rounded hover:bg-sunken"
            >
              <ChevronsUpDown aria-hidden size={16} />
            </Base.Trigger>
          </div>
          <Base.Portal>
            <Base.Positioner sideOffset={4} className="z-50">
              <Base.Popup className="max-h-72 w-(--anchor-width) overflow-y-auto rounded-xl border border-line bg-surface p-1.5 shadow-pop">
                <Base.Empty className="text-sm text-muted [&:not(:empty)]:px-3 [&:not(:empty)]:py-2">{emptyLabel}</Base.Empty>
                <Base.List>
                  {(item: ComboboxItem) => (
                    <Base.Item
                      key={item.value}
                      value={item}
                      className="flex min-h-9 items-center gap-2 rounded-lg px-3 py-1 text-sm data-highlighted:bg-sunken"
                    >
                      <span className="grow">
                        {item.label}
                        {item.detail !== undefined && <span className="block text-xs text-muted">{item.detail}</span>}
                      </span>
                      <Base.ItemIndicator>
                        <Check aria-hidden size={16} />
                      </Base.ItemIndicator>
                    </Base.Item>
                  )}
                </Base.List>
              </Base.Popup>
            </Base.Positioner>
          </Base.Portal>
        </Base.Root>
      )}
    </LabelledField>
  );
}
