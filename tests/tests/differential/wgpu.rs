use crate::cases;
use burn_backend::TensorData;
use burn_flex::Flex;
use burn_ir::{OperationIr, TensorStatus};
use burn_wgpu::Wgpu;
use interpreter_tests::{Case, Ran, run};
use std::collections::BTreeMap;

#[test]
fn explore() {
    for case in cases() {
        let op = case.op_with(TensorStatus::ReadOnly);
        let theirs = run::<Flex, burn_router::TensorInterpreter<Flex>>(&case, &op);
        let up = run::<Wgpu, burn_router::TensorInterpreter<Wgpu>>(&case, &op);
        let ours = run::<Wgpu, burn_interpreter::TensorInterpreter<Wgpu>>(&case, &op);
        let dt: Vec<_> = op
            .inputs()
            .chain(op.outputs())
            .map(|t| format!("{:?}", t.dtype))
            .collect();
        match (theirs, ours) {
            (Ok(mut theirs), Ok(ours)) => {
                theirs.convert(&op);
                let diff = theirs
                    .outputs
                    .iter()
                    .zip(&ours.outputs)
                    .map(|(a, b)| {
                        if a.as_bytes() == b.as_bytes()
                            && a.dtype() == b.dtype()
                            && a.shape() == b.shape()
                        {
                            return "same".to_string();
                        }
                        if a.dtype() != b.dtype() || a.shape() != b.shape() {
                            return format!(
                                "shape/dtype {:?} {:?} {:?} {:?}",
                                a.dtype(),
                                b.dtype(),
                                a.shape(),
                                b.shape()
                            );
                        }
                        let (x, y): (Vec<f64>, Vec<f64>) =
                            (a.iter::<f64>().collect(), b.iter::<f64>().collect());
                        let abs = x
                            .iter()
                            .zip(&y)
                            .map(|(x, y)| (x - y).abs())
                            .fold(0.0, f64::max);
                        let rel = x
                            .iter()
                            .zip(&y)
                            .map(|(x, y)| (x - y).abs() / x.abs().max(1e-30))
                            .fold(0.0, f64::max);
                        format!(
                            "abs {abs:.2e} rel {rel:.2e}{}",
                            if a.dtype().is_float() {
                                ""
                            } else {
                                " NOTFLOAT"
                            }
                        )
                    })
                    .collect::<Vec<_>>();
                let alive = theirs.alive == ours.alive;
                let upok = match &up {
                    Ok(u) => {
                        if u.outputs
                            .iter()
                            .zip(&ours.outputs)
                            .all(|(a, b)| a.as_bytes() == b.as_bytes())
                        {
                            "up=same"
                        } else {
                            "up=DIFF"
                        }
                    }
                    Err(_) => "up=ERR",
                };
                eprintln!("CASE {} {dt:?} {diff:?} alive={alive} {upok}", case.name());
            }
            (t, o) => eprintln!(
                "CASE {} {dt:?} FLEX {:?} WGPU {:?} UP {:?}",
                case.name(),
                t.err(),
                o.err(),
                up.err()
            ),
        }
    }
}
