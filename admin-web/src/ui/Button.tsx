import type { ButtonHTMLAttributes, Ref } from "react";
import { classes } from "./classes.ts";
import style from "./Button.module.css";

type Props = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: "plain" | "primary" | "danger" | "quiet";
  small?: boolean;
  ref?: Ref<HTMLButtonElement>;
};

export function Button({ look = "plain", small = false, className, ...rest }: Props) {
  const name = classes(style.button, style[look], small && style.small, className);
  return <button type="button" {...rest} className={name} />;
}
