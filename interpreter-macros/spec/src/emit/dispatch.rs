//! The matches: from an operation to the function that executes it, and to its facts.
//!
//! None has a `_` arm, so that an IR variant without a row does not compile.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::ident;
use crate::model::{Arm, Group, Handling, IrPattern, Operation, Table};

/// `execute` and `op_info`, which look at the variant of `OperationIr` only.
pub(super) fn entries(table: &Table) -> TokenStream {
    let carriers = || {
        table.groups.iter().flat_map(|group| {
            let arms = group.arms.iter();
            arms.filter_map(move |arm| Some((group, arm, arm.pattern.as_ref()?)))
        })
    };
    let own = |row: fn(Operation<'_>) -> TokenStream| {
        let own = table.groups.iter().flat_map(|group| {
            let own = group.arms.iter().filter(|arm| arm.pattern.is_none());
            own.flat_map(|arm| group.operations(arm))
        });
        own.map(row).collect::<Vec<_>>()
    };
    let execute_arms = carriers().map(|(group, arm, carrier)| {
        let (variant, carrier) = (ident(&carrier.variant), pattern(carrier));
        let function = format_ident!("execute_{}", stem(group, arm));
        let feature = &*group.name;
        quote! {
            #[cfg(feature = #feature)]
            OperationIr::#carrier => #function(ctx, op),
            #[cfg(not(feature = #feature))]
            OperationIr::#variant(..) => disabled(#feature)
        }
    });
    let execute_own = own(execute_arm);
    let missing_arms = carriers().map(|(group, _, carrier)| {
        let variant = ident(&carrier.variant);
        let feature = &*group.name;
        quote!(OperationIr::#variant(..) => (!cfg!(feature = #feature)).then_some(#feature))
    });
    let missing_own = own(|operation| {
        let (ir, variant) = (ident(&operation.group.ir), ident(&operation.row.variant));
        quote!(#ir::#variant { .. } => None)
    });
    let info_arms = carriers().map(|(group, arm, carrier)| {
        let carrier = pattern(carrier);
        let function = format_ident!("info_{}", stem(group, arm));
        quote!(OperationIr::#carrier => #function(op))
    });
    let info_own = own(info_arm);
    quote! {
        /// Execute one operation: read its inputs, call the backend, register its outputs.
        ///
        /// A group is executed with the feature of its name.
        pub(crate) fn execute<B: BackendIr>(
            ctx: &mut Context<B>,
            op: &OperationIr,
        ) -> Outcome {
            match op {
                #(#execute_arms,)*
                #(#execute_own,)*
            }
        }

        /// The feature that `op` takes and that this build lacks.
        pub(crate) fn missing_feature(op: &OperationIr) -> Option<&'static str> {
            match op {
                #(#missing_arms,)*
                #(#missing_own,)*
            }
        }

        /// The facts of the row that executes `op`.
        pub fn op_info(op: &OperationIr) -> &'static OpInfo {
            match op {
                #(#info_arms,)*
                #(#info_own,)*
            }
        }
    }
}

/// The match over a group's rows that executes one of its arms.
pub(super) fn execute(group: &Group, arm: &Arm) -> Option<TokenStream> {
    arm.pattern.as_ref()?;
    let name = format_ident!("execute_{}", stem(group, arm));
    let ir = ident(&group.ir);
    let arms = group.operations(arm).map(execute_arm);
    Some(quote! {
        #[inline(never)]
        fn #name<B: BackendIr>(ctx: &mut Context<B>, op: &#ir) -> Outcome {
            match op {
                #(#arms,)*
            }
        }
    })
}

/// The match over a group's rows that finds the facts in one of its arms.
pub(super) fn info(group: &Group, arm: &Arm) -> Option<TokenStream> {
    arm.pattern.as_ref()?;
    let name = format_ident!("info_{}", stem(group, arm));
    let ir = ident(&group.ir);
    let arms = group.operations(arm).map(info_arm);
    Some(quote! {
        fn #name(op: &#ir) -> &'static OpInfo {
            match op {
                #(#arms,)*
            }
        }
    })
}

/// `NumericOperationIr::Powi(op) => numeric_float_powi(ctx, op)`
fn execute_arm(operation: Operation<'_>) -> TokenStream {
    let ir = ident(&operation.group.ir);
    let variant = ident(&operation.row.variant);
    let function = ident(&operation.function());
    let Some(body) = &operation.row.body else {
        return quote!(#ir::#variant { .. } => unsupported());
    };
    match (&body.handling, &body.signature.ir_struct) {
        (Handling::Unsupported(_), _) => {
            quote!(#ir::#variant { .. } => unsupported())
        }
        (_, Some(_)) => quote!(#ir::#variant(op) => #function(ctx, op)),
        (_, None) => quote!(#ir::#variant => #function(ctx)),
    }
}

/// `NumericOperationIr::Powi { .. } => &NUMERIC_FLOAT_POWI`
fn info_arm(operation: Operation<'_>) -> TokenStream {
    let ir = ident(&operation.group.ir);
    let variant = ident(&operation.row.variant);
    let constant = ident(&operation.constant());
    quote!(#ir::#variant { .. } => &#constant)
}

/// `numeric_float`, `module`
fn stem(group: &Group, arm: &Arm) -> String {
    match arm.kind {
        Some(kind) => format!("{}_{kind}", *group.name),
        None => group.name.value.clone(),
    }
}

/// `NumericFloat(_, op)`
fn pattern(pattern: &IrPattern) -> TokenStream {
    let variant = ident(&pattern.variant);
    let fields = pattern.fields.iter().map(|is_op| match is_op {
        true => quote!(op),
        false => quote!(_),
    });
    quote!(#variant(#(#fields),*))
}
